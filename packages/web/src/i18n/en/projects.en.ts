/** Messages of the project settings. */
export const projects = {
  project: {
    token: 'Project token',
    tokenIntro: 'Public. Identifies this project in SDKs.',
    rotateToken: 'Rotate',
    rotateTokenQuestion: 'Create a new token? Update your apps while both tokens work.',
    overlap: 'Current token keeps working for',
    overlapHours: (hours: number) => (hours < 24 ? `${hours} hour` : hours === 24 ? '1 day' : `${hours / 24} days`),
    noOverlap: 'Not at all: revoke it now',
    previousToken: (mask: string, time: string) => `The previous token ${mask} works until ${time}.`,
    revokePrevious: 'Revoke now',
    revokePreviousQuestion: 'Revoke the previous token? Apps that still use it will stop getting flags.',
    previousRevoked: 'Previous token revoked',
    tokenRotated: 'Token rotated. Update your apps.',
    secretKeys: 'Secret keys',
    secretKeysIntro: 'For server SDKs with local evaluation.',
    noSecretKeys: 'No secret keys yet',
    remove: 'Delete project',
    removeIntro: 'Permanently deletes all flags, people, cohorts and keys.',
    removeQuestion: (name: string) => `Delete ${name} with all flags, people, cohorts and keys? This can’t be undone.`,
    typeName: (name: string) => `Type ${name} to confirm`,
    removed: (name: string) => `${name} deleted`,
  },
}

export type ProjectsMessages = typeof projects
