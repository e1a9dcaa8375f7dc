"""The broker of a fleet: RabbitMQ through pika, one connection to publish and one to consume."""
