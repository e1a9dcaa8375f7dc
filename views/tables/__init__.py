"""Tables that change cell by cell and never jump under the cursor."""
