import type { ProjectsMessages } from '../en/projects.en.ts'

export const projects: ProjectsMessages = {
  project: {
    token: 'Projekt-Token',
    tokenIntro: 'Öffentlich. Identifiziert dieses Projekt in SDKs.',
    rotateToken: 'Erneuern',
    rotateTokenQuestion: 'Token erneuern? Apps mit dem bisherigen Token erhalten dann keine Flags mehr.',
    tokenRotated: 'Token erneuert. Aktualisiere deine Apps.',
    secretKeys: 'Geheime Schlüssel',
    secretKeysIntro: 'Für Server-SDKs mit lokaler Auswertung.',
    noSecretKeys: 'Noch keine geheimen Schlüssel',
    remove: 'Projekt löschen',
    removeIntro: 'Löscht alle Flags, Personen, Kohorten und Schlüssel endgültig.',
    removeQuestion: name =>
      `${name} mit allen Flags, Personen, Kohorten und Schlüsseln löschen? Das kann nicht rückgängig gemacht werden.`,
    removed: name => `${name} gelöscht`,
  },
}
