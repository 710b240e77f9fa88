"""Language models: endpoints, the OpenAI API, dialects, the demo. The only room that imports openai."""
