/** What is done, in this order, to get a plugin from an address; a folder of this server has no first two. */
export type InstallStep = 'look_up' | 'download' | 'unpack' | 'compile' | 'load' | 'store'

/** Told when a step is begun. What it throws ends the work. */
export type OnStep = (step: InstallStep) => void
