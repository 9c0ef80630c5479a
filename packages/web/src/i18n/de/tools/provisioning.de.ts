import type { ProvisioningMessages } from '../../en/tools/provisioning.en.ts'

export const provisioning: ProvisioningMessages = {
  provisioning: {
    title: 'Bereitstellung',
    intro: 'Dein Identitätsanbieter fügt Mitglieder und Rollen über SCIM 2.0 hinzu und entfernt sie.',
    baseUrl: 'Basis-URL',
    baseUrlHint: 'Trage sie als Mandanten-URL (Entra ID) oder Basis-URL (Okta) ein, mit einem Token als Bearer-Token.',
    copyUrl: 'Basis-URL kopieren',
    tokens: 'Tokens',
    noTokens: 'Noch keine Tokens',
    noTokensText: 'Erstelle ein Token, um deinen Identitätsanbieter zu verbinden.',
    label: 'Bezeichnung',
    create: 'Token erstellen',
    token: 'Token',
    createdBy: 'Erstellt von',
    lastUsed: 'Zuletzt verwendet',
    expires: 'Läuft ab',
    revoke: 'Widerrufen',
    revokeQuestion: label => `Token ${label} widerrufen?`,
    revokeDetail: 'Die Bereitstellung damit endet sofort; Mitglieder bleiben.',
    revoked: label => `${label} widerrufen`,
    ownerOnly: 'Nur der Inhaber kann Tokens erstellen und widerrufen.',
    people: 'Bereitgestellte Mitglieder',
    noPeople: 'Noch keine bereitgestellten Mitglieder',
    noPeopleText: 'Mitglieder erscheinen hier, sobald dein Identitätsanbieter sie zuweist.',
    badge: 'SCIM',
  },
}
