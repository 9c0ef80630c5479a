/** The steps of installing a plugin from an address, in order; a local folder skips the first two. */
export type InstallStep = 'look_up' | 'download' | 'unpack' | 'compile' | 'load' | 'store'

/** Called when a step begins. Throwing ends the work. */
export type OnStep = (step: InstallStep) => void
