"""`operad doctor`: what this installation is made of, and what is wrong with it."""

from operad.cli.doctor.command import doctor as doctor
