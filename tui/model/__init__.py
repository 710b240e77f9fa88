"""Language models: endpoints, the OpenAI API, dialects."""
