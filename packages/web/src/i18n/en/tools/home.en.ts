/** Messages of the start page of a project. */
export const home = {
  home: {
    title: 'Home',
    flags: (total: string, active: string) => `${total} flags, ${active} on`,
    otherStarts: 'Import, demo and first steps',
    allRequests: 'All requests',
    allActivity: 'All activity',
    more: (count: number) => `and ${count} more`,
    running: 'Running and next',
    nothingRuns: 'No ramps, scheduled changes or freezes',
    freezeFrom: (start: string, reason: string) => `Freeze from ${start}: ${reason}`,
    stepsDone: (done: number, steps: number) => `${done} of ${steps} steps done`,
    latest: 'Latest changes',
    turnedOn: 'turned on',
    turnedOff: 'turned off',
    attention: 'Needs attention',
    stale: (count: number) => (count === 1 ? '1 flag is stale' : `${count} flags are stale`),
    noneStale: 'No flag is stale',
    noAttention: 'No flag is stale or was rolled back',
    mostEvaluated: 'Evaluated most',
    noEvaluations: 'No evaluations since yesterday',
  },
}

export type HomeMessages = typeof home
