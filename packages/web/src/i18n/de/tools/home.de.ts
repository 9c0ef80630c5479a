import type { HomeMessages } from '../../en/tools/home.en.ts'

export const home: HomeMessages = {
  home: {
    title: 'Start',
    flags: (total, active) => `${total} Flags, davon ${active} an`,
    otherStarts: 'Import, Demo und erste Schritte',
    allRequests: 'Alle Anträge',
    allActivity: 'Alle Aktivitäten',
    more: count => `und ${count} weitere`,
    running: 'Läuft und steht an',
    nothingRuns: 'Keine stufenweisen Rollouts, geplanten Änderungen oder Sperren',
    freezeFrom: (start, reason) => `Sperre ab ${start}: ${reason}`,
    stepsDone: (done, steps) => `${done} von ${steps} Schritten erledigt`,
    latest: 'Letzte Änderungen',
    turnedOn: 'hat eingeschaltet:',
    turnedOff: 'hat ausgeschaltet:',
    attention: 'Braucht Aufmerksamkeit',
    stale: count => (count === 1 ? '1 Flag ist veraltet' : `${count} Flags sind veraltet`),
    noneStale: 'Kein Flag ist veraltet',
    noAttention: 'Kein Flag ist veraltet oder wurde zurückgerollt',
    mostEvaluated: 'Am häufigsten ausgewertet',
    noEvaluations: 'Keine Auswertungen seit gestern',
  },
}
