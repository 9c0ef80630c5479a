/** Messages of activity, diffs and versions. */
export const history = {
  history: {
    added: 'Added',
    removed: 'Removed',
    more: 'Load more',
    empty: 'No activity yet',
    emptyText: 'Flag changes will appear here.',
    changes: 'Changes',
    versions: 'Versions',
    automatic: 'Automatic',
    turnedOn: 'Turned on',
    turnedOff: 'Turned off',
    through: (key: string) => `using API key “${key}”`,
    verbs: {
      created: 'created',
      updated: 'updated',
      deleted: 'deleted',
      restored: 'restored',
      scheduled: 'scheduled a change to',
      unscheduled: 'canceled a scheduled change to',
      role_access_granted: 'granted a role access to',
      role_access_revoked: 'revoked a role’s access to',
    },
    because: {
      rollback: (condition: string) => `Rolled back automatically: ${condition}`,
      measured: (condition: string, value: string) => `${condition} (measured: ${value})`,
      schedule: (user: string) => `Scheduled by ${user}`,
    },
    planned: (change: string, time: string) => `${change}, ${time}`,
  },
  versions: {
    version: (number: number) => `Version ${number}`,
    from: 'Compare',
    to: 'with',
    same: 'No differences',
    current: 'Current',
    restore: (number: number) => `Restore version ${number}`,
    restored: (number: number) => `Restored version ${number}`,
    reviewRestore: (number: number) => `Restore version ${number}?`,
    confirmRestore: 'Restore',
  },
}

export type HistoryMessages = typeof history
