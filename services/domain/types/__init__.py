"""What a kind of task is: policy, payload schema, browser flow."""
