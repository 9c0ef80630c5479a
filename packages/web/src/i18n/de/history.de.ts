import type { HistoryMessages } from '../en/history.en.ts'

export const history: HistoryMessages = {
  history: {
    added: 'Hinzugefügt',
    removed: 'Entfernt',
    more: 'Mehr laden',
    empty: 'Noch keine Aktivität',
    emptyText: 'Änderungen an Flags erscheinen hier.',
    changes: 'Änderungen',
    versions: 'Versionen',
    automatic: 'Automatisch',
    turnedOn: 'Eingeschaltet',
    turnedOff: 'Ausgeschaltet',
    through: key => `mit API-Schlüssel „${key}“`,
    verbs: {
      created: 'hat erstellt:',
      updated: 'hat geändert:',
      deleted: 'hat gelöscht:',
      restored: 'hat wiederhergestellt:',
      scheduled: 'hat eine Änderung geplant:',
      unscheduled: 'hat eine geplante Änderung abgebrochen:',
      role_access_granted: 'hat einer Rolle Zugriff gegeben:',
      role_access_revoked: 'hat einer Rolle den Zugriff entzogen:',
    },
    because: {
      rollback: condition => `Automatisch zurückgerollt: ${condition}`,
      measured: (condition, value) => `${condition} (gemessen: ${value})`,
      schedule: user => `Geplant von ${user}`,
    },
    planned: (change, time) => `${change}, ${time}`,
  },
  versions: {
    version: number => `Version ${number}`,
    from: 'Vergleiche',
    to: 'mit',
    same: 'Keine Unterschiede',
    current: 'Aktuell',
    restore: number => `Version ${number} wiederherstellen`,
    restored: number => `Version ${number} wiederhergestellt`,
    reviewRestore: number => `Version ${number} wiederherstellen?`,
    confirmRestore: 'Wiederherstellen',
  },
}
