/** Messages of the start page of a project, and of charts. */
export const home = {
  home: {
    title: 'Home',
    flags: (total: string, active: string) => `${total === '1' ? '1 flag' : `${total} flags`}, ${active} on`,
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
    noEvaluations: 'No evaluations in the last 14 days',
  },
  charts: {
    events: 'Events by value',
    event: 'Event',
    hourly: (title: string) => `${title} per hour; the table below has the same numbers`,
    steps: 'Changes of the flag, as numbered in the chart',
    created: 'created the flag',
    turnedOn: 'turned it on',
    turnedOff: 'turned it off',
    rollout: (before: string, after: string) => `changed the rollout: ${before} → ${after}`,
    conditions: 'changed the conditions',
    threshold: (perHour: string) => `drawn as ${perHour} per hour`,
    noEvents: 'No event carried this flag in the last 7 days. SDKs add the values of flags to events.',
    notCounted:
      'Events are counted by value for flags with rollback conditions, and for the five flags changed last that are on for a part of the people or have variants.',
  },
}

export type HomeMessages = typeof home
