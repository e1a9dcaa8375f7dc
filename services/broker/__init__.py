"""Drivers of the Broker port: RabbitMQ and embedded."""
