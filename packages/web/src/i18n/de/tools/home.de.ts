import type { HomeMessages } from '../../en/tools/home.en.ts'

export const home: HomeMessages = {
  home: {
    title: 'Start',
    flags: (total, active) => `${total === '1' ? '1 Flag' : `${total} Flags`}, davon ${active} an`,
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
    noEvaluations: 'Keine Auswertungen in den letzten 14 Tagen',
  },
  charts: {
    events: 'Events nach Wert',
    event: 'Event',
    hourly: title => `${title} pro Stunde; die Tabelle darunter hat dieselben Zahlen`,
    steps: 'Änderungen des Flags, nummeriert wie im Diagramm',
    created: 'hat das Flag erstellt',
    turnedOn: 'hat es eingeschaltet',
    turnedOff: 'hat es ausgeschaltet',
    rollout: (before, after) => `hat den Rollout geändert: ${before} → ${after}`,
    conditions: 'hat die Bedingungen geändert',
    threshold: perHour => `eingezeichnet als ${perHour} pro Stunde`,
    noEvents:
      'In den letzten 7 Tagen hat kein Event einen Wert dieses Flags getragen. SDKs fügen Events die Werte von Flags hinzu.',
    notCounted:
      'Events werden nach Wert gezählt bei Flags mit Rollback-Bedingungen und bei den fünf zuletzt geänderten Flags, die für einen Teil der Personen an sind oder Varianten haben.',
  },
}
