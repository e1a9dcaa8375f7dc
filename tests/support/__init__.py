"""What tests and benchmarks lean on: private servers, leak checks."""
