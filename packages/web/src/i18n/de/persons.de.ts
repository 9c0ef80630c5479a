import type { PersonsMessages } from '../en/persons.en.ts'

export const persons: PersonsMessages = {
  persons: {
    intro: 'Alle, für die deine Apps Events gesendet haben.',
    search: 'Personen suchen',
    none: 'Noch keine Personen',
    noneText: 'Personen erscheinen hier, sobald deine Apps Events senden. Probiere es aus:',
    noMatches: 'Keine passenden Personen',
    name: 'Name',
    distinctIds: 'Distinct-IDs',
    since: 'Zuerst gesehen',
    debug: 'Flags debuggen',
    debugFlags: name => `Flags debuggen für ${name}`,
    firstSeen: time => `Zuerst gesehen ${time}`,
    properties: 'Eigenschaften',
    noProperties: 'Keine Eigenschaften',
    remove: 'Person löschen',
    removeQuestion: name => `Person ${name} löschen?`,
    removeDetail: 'Alle IDs und Eigenschaften werden mit gelöscht. Das kann nicht rückgängig gemacht werden.',
    removed: name => `${name} gelöscht`,
  },
  groups: {
    intro: 'Firmen, Teams oder andere Gruppen, denen deine Apps Personen zuordnen.',
    none: 'Noch keine Gruppen',
    noneText:
      'Gruppen erscheinen hier, sobald deine Apps Events für sie senden. Flags können dann je Gruppe gelten. Probiere es aus:',
    type: 'Gruppentyp',
    search: 'Gruppen suchen',
  },
}
