"""Access to servers without configured secrets: results, definitions, questions."""
