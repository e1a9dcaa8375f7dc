"""What an operator may do, checked and audited."""
