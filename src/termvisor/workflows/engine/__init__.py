"""Execute workflow runs against their journal. Read ``engine`` first."""
