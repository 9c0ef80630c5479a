import type { ProjectsMessages } from '../en/projects.en.ts'

export const projects: ProjectsMessages = {
  project: {
    token: 'Projekt-Token',
    tokenIntro: 'Öffentlich. Identifiziert dieses Projekt in SDKs.',
    rotateToken: 'Erneuern',
    rotateTokenQuestion: 'Ein neues Token erstellen? Aktualisiere deine Apps, solange beide Tokens gelten.',
    overlap: 'Das bisherige Token gilt weiter für',
    overlapHours: hours => (hours < 24 ? `${hours} Stunde` : hours === 24 ? '1 Tag' : `${hours / 24} Tage`),
    noOverlap: 'Gar nicht: sofort widerrufen',
    previousToken: (mask, time) => `Das vorige Token ${mask} gilt bis ${time}.`,
    revokePrevious: 'Jetzt widerrufen',
    revokePreviousQuestion: 'Das vorige Token widerrufen? Apps, die es noch verwenden, erhalten keine Flags mehr.',
    previousRevoked: 'Voriges Token widerrufen',
    tokenRotated: 'Token ersetzt. Aktualisiere deine Apps.',
    secretKeys: 'Geheime Schlüssel',
    secretKeysIntro: 'Für Server-SDKs mit lokaler Auswertung.',
    noSecretKeys: 'Noch keine geheimen Schlüssel',
    remove: 'Projekt löschen',
    removeIntro: 'Löscht alle Flags, Personen, Kohorten und Schlüssel endgültig.',
    removeQuestion: name =>
      `${name} mit allen Flags, Personen, Kohorten und Schlüsseln löschen? Das kann nicht rückgängig gemacht werden.`,
    typeName: name => `Gib zur Bestätigung ${name} ein`,
    removed: name => `${name} gelöscht`,
  },
}
