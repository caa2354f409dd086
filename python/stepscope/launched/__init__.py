"""What runs inside a program that `stepscope run` started; docs/design/0018 tells how."""
