/** Messages of provisioning by SCIM. */
export const provisioning = {
  provisioning: {
    title: 'Provisioning',
    intro: 'Your identity provider adds and removes members and roles by SCIM 2.0.',
    baseUrl: 'Base URL',
    baseUrlHint: 'Enter it as tenant URL (Entra ID) or base URL (Okta), with a token as bearer token.',
    copyUrl: 'Copy base URL',
    tokens: 'Tokens',
    noTokens: 'No tokens yet',
    noTokensText: 'Create a token to connect your identity provider.',
    label: 'Label',
    create: 'Create token',
    token: 'Token',
    createdBy: 'Created by',
    lastUsed: 'Last used',
    expires: 'Expires',
    revoke: 'Revoke',
    revokeQuestion: (label: string) => `Revoke the token ${label}?`,
    revokeDetail: 'Provisioning with it stops at once; members stay.',
    revoked: (label: string) => `${label} revoked`,
    ownerOnly: 'Only the owner can create and revoke tokens.',
    people: 'Provisioned members',
    noPeople: 'No provisioned members yet',
    noPeopleText: 'Members appear here when your identity provider assigns them.',
    badge: 'SCIM',
  },
}

export type ProvisioningMessages = typeof provisioning
