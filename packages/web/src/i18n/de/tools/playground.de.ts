import type { PlaygroundMessages } from '../../en/tools/playground.en.ts'

export const playground: PlaygroundMessages = {
  playground: {
    title: 'Playground',
    intro: 'Flags für viele Personen auf einmal auswerten. Nichts wird gespeichert.',
    people: 'Personen',
    peopleHint: max => `Eine Distinct-ID pro Zeile, CSV mit einer Spalte distinct_id oder JSON. Höchstens ${max}.`,
    brokenJson: 'Ungültiges JSON',
    tooMany: max => `Gib höchstens ${max} Personen ein`,
    whatIf: 'Angenommene Eigenschaften',
    whatIfHint: 'Eine pro Zeile, für alle oben.',
    flags: 'Flags',
    flagsHint: 'Keys, durch Kommas getrennt. Ohne Angabe alle Flags.',
    compare: 'Mit dem Entwurf eines Flags vergleichen',
    compareHint: 'Wähle ein Flag und ändere unten seine Filter.',
    withoutDraft: 'Ohne Entwurf',
    draftFilters: 'Filter des Entwurfs (JSON)',
    evaluate: 'Auswerten',
    count: count => (count === 1 ? '1 Person' : `${count} Personen`),
    results: 'Ergebnisse',
    person: 'Person',
    draftOf: key => `Entwurf von ${key}`,
    changed: 'anders',
    differing: (count, total) =>
      count === 0
        ? 'Mit dem Entwurf ändert sich der Wert für niemanden.'
        : `Mit dem Entwurf ändert sich der Wert für ${count} von ${total === 1 ? '1 Person' : `${total} Personen`}.`,
    exportCsv: 'CSV exportieren',
    exportJson: 'JSON exportieren',
    incomplete: 'Gespeicherte Eigenschaften waren nicht für alle verfügbar.',
  },
}
