/** Messages of the account page. */
export const account = {
  account: {
    newPassword: 'New password',
    currentPassword: 'Current password',
    keys: 'Personal API keys',
    keysIntro: 'Keys act on your behalf, limited to their scopes.',
    label: 'Label',
    scopes: 'Scopes',
    fullAccess: 'Full access',
    lastUsed: 'Last used',
    expires: 'Expires',
    inDays: (count: number) => `in ${count} days`,
    create: 'Create key',
    revoke: 'Revoke',
    revokeQuestion: (label: string) => `Revoke key ${label}? Apps that use it will stop working.`,
    revoked: (label: string) => `Key ${label} revoked`,
  },
}

export type AccountMessages = typeof account
