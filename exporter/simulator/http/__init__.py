"""What nodes do with HTTP whatever they answer: listening, media types, errors, rate limits, websockets."""
