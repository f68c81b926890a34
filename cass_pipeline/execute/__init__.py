"""Running untrusted code: the sandbox for processes, and the devices that kernels run on."""
