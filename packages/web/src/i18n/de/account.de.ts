import type { AccountMessages } from '../en/account.en.ts'

export const account: AccountMessages = {
  account: {
    newPassword: 'Neues Passwort',
    currentPassword: 'Aktuelles Passwort',
    keys: 'Persönliche API-Schlüssel',
    keysIntro: 'Schlüssel handeln in deinem Namen, begrenzt auf ihre Scopes.',
    label: 'Bezeichnung',
    scopes: 'Scopes',
    fullAccess: 'Voller Zugriff',
    lastUsed: 'Zuletzt verwendet',
    expires: 'Läuft ab',
    inDays: count => `in ${count} Tagen`,
    create: 'Schlüssel erstellen',
    revoke: 'Widerrufen',
    revokeQuestion: label => `Schlüssel ${label} widerrufen? Apps, die ihn verwenden, funktionieren dann nicht mehr.`,
    revoked: label => `Schlüssel ${label} widerrufen`,
  },
}
