"""Never done with its import."""

print("busy")
while True:
    pass
