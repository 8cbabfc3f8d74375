"""How people are told: four ways, and the manners of all of them. Only the gate sends what stands here."""
