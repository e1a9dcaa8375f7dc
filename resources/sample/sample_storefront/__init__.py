"""A small pretended sales platform on loopback: it serves orders and goods and misbehaves as real platforms do."""
