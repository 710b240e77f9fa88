"""Forms made from JSON Schemas: fields, values, checks."""
