/** Messages of people and groups. */
export const persons = {
  persons: {
    intro: 'Everyone your apps have sent events for.',
    search: 'Search people',
    none: 'No people yet',
    noneText: 'People appear here once your apps send events. Try it:',
    noMatches: 'No matching people',
    name: 'Name',
    distinctIds: 'Distinct IDs',
    since: 'First seen',
    debug: 'Debug flags',
    debugFlags: (name: string) => `Debug flags for ${name}`,
    firstSeen: (time: string) => `First seen ${time}`,
    properties: 'Properties',
    noProperties: 'No properties',
    remove: 'Delete person',
    removeQuestion: (name: string) => `Delete the person ${name}?`,
    removeDetail: 'All IDs and properties are deleted too. This can’t be undone.',
    removed: (name: string) => `${name} deleted`,
  },
  groups: {
    intro: 'Companies, teams or anything else your apps group people by.',
    none: 'No groups yet',
    noneText: 'Groups appear here once your apps send events for them. Flags can then match by group. Try it:',
    type: 'Group type',
    search: 'Search groups',
  },
}

export type PersonsMessages = typeof persons
