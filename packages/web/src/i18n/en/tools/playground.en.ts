/** Messages of the playground. */
export const playground = {
  playground: {
    title: 'Playground',
    intro: 'Evaluate flags for many people at once. Nothing is stored.',
    people: 'People',
    peopleHint: (max: number) => `One distinct ID per line, CSV with a distinct_id column, or JSON. At most ${max}.`,
    brokenJson: 'Invalid JSON',
    tooMany: (max: number) => `Enter at most ${max} people`,
    whatIf: 'What-if properties',
    whatIfHint: 'One per line, for everyone above.',
    flags: 'Flags',
    flagsHint: 'Keys, separated by commas. All flags by default.',
    compare: 'Compare with a draft of',
    compareHint: 'Choose a flag and change its filters below.',
    withoutDraft: 'Without draft',
    draftFilters: 'Draft filters (JSON)',
    evaluate: 'Evaluate',
    count: (count: number) => (count === 1 ? '1 person' : `${count} people`),
    results: 'Results',
    person: 'Person',
    draftOf: (key: string) => `Draft of ${key}`,
    /** Of the draft, compared with the flag. */
    changed: 'changed',
    differing: (count: number, total: number) =>
      count === 0
        ? 'The draft changes the value for no one.'
        : `The draft changes the value for ${count} of ${total === 1 ? '1 person' : `${total} people`}.`,
    exportCsv: 'Export CSV',
    exportJson: 'Export JSON',
    incomplete: 'Stored properties were not available for everyone.',
  },
}

export type PlaygroundMessages = typeof playground
