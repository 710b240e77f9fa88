"""Language models: endpoints, the OpenAI API, dialects, the demo. The only package that imports openai."""
