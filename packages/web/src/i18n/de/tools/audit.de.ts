import type { AuditMessages } from '../../en/tools/audit.en.ts'

export const audit: AuditMessages = {
  audit: {
    title: 'Audit-Protokoll',
    intro: 'Jede Änderung in dieser Organisation, als Hash-Kette. Auch das Lesen hinterlässt einen Eintrag.',
    search: 'Suche',
    person: 'Person',
    anyone: 'Alle',
    object: 'Objekt',
    from: 'Von',
    to: 'Bis',
    filter: 'Filtern',
    none: 'Keine passenden Einträge',
    noneText: 'Ändere den Filter, um mehr zu sehen.',
    system: 'System',
    commandLine: 'Kommandozeile',
    field: 'Feld',
    before: 'Vorher',
    after: 'Nachher',
    hash: 'Hash',
    request: 'Anfrage',
    exportJson: 'Als JSON Lines exportieren',
    exportCef: 'Als CEF exportieren',
    exportFailed: 'Das Audit-Protokoll konnte nicht exportiert werden.',
    verify: 'Einen Export prüfen:',
  },
}
