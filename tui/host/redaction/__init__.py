"""What the program has of the servers, without configured secrets: results, definitions, questions."""
