/** Messages of the project settings. */
export const projects = {
  project: {
    token: 'Project token',
    tokenIntro: 'Public. Identifies this project in SDKs.',
    rotateToken: 'Rotate',
    rotateTokenQuestion: 'Rotate the token? Apps that use the current one will stop getting flags.',
    tokenRotated: 'Token rotated. Update your apps.',
    secretKeys: 'Secret keys',
    secretKeysIntro: 'For server SDKs with local evaluation.',
    noSecretKeys: 'No secret keys yet',
    remove: 'Delete project',
    removeIntro: 'Permanently deletes all flags, people, cohorts and keys.',
    removeQuestion: (name: string) => `Delete ${name} with all flags, people, cohorts and keys? This can’t be undone.`,
    removed: (name: string) => `${name} deleted`,
  },
}

export type ProjectsMessages = typeof projects
