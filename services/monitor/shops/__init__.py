"""How shops do: their states, and the questions of pages about them."""
