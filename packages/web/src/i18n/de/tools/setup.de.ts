import type { SetupMessages } from '../../en/tools/setup.en.ts'

export const setup: SetupMessages = {
  setup: {
    title: 'SDK einrichten',
    intro: 'Verbinde eine Anwendung und sieh, welche SDKs dieses Projekt aufrufen.',
    waiting: 'Warte auf den ersten Aufruf',
    waitingHint: 'Führe eines der Beispiele unten aus. Diese Seite aktualisiert sich, sobald ein Aufruf ankommt.',
    evaluated: 'Deine Anwendung wertet Flags aus',
    evaluatedHint: 'Letzte Auswertung:',
    received: 'Erster Aufruf angekommen',
    receivedFrom: sdk => `Letzter Aufruf von ${sdk},`,
    connect: 'Verbinden',
    flagKey: 'Flag-Key in den Beispielen',
    flagKeyHint: 'Der Code eines vorhandenen Flags mit seinen Varianten steht in dessen Tab „Code“.',
    connected: 'Verbundene SDKs',
    connectedHint: 'Letzte 90 Tage',
    library: 'Bibliothek',
    version: 'Version',
    calls: 'Aufrufe',
    lastSeen: 'Zuletzt gesehen',
  },
}
