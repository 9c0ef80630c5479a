import { dirname, join, resolve } from 'node:path'
import type { PendingCredentials } from '../features/identity/first-start/first-credentials.ts'
import { shownDatabase } from '../settings/database-url.ts'

/** The one-time link on which the first person chooses a password. */
export const setupLink = (address: string, token: string): string => `${address}/setup?token=${token}`

/** Everything to start with, in a form that can be pasted into a shell. Holds secrets. */
export function welcome(address: string, credentials: PendingCredentials, databaseUrl: string): string {
  const { email, password, key, projectId, projectToken } = credentials
  const setWith = (name: string) => `(the one you set with ${name})`
  return `
  Welcome to Halyard.

  Open the dashboard:  ${address}
    Email              ${email}
    Password           ${password ?? setWith('HALYARD_OWNER_PASSWORD')}

  Or paste this into another shell:

    export HALYARD_URL=${address}
    export HALYARD_KEY=${key ?? '"$HALYARD_BOOTSTRAP_KEY"'}
    export HALYARD_PROJECT_ID=${projectId}
    export HALYARD_PROJECT_TOKEN=${projectToken}

  and create a flag that is on for everyone, then evaluate it:

    curl -sS "$HALYARD_URL/api/projects/$HALYARD_PROJECT_ID/feature_flags/" -H "Authorization: Bearer $HALYARD_KEY" \\
      -H 'Content-Type: application/json' -d '{"key": "my-first-flag"}'
    curl -sS "$HALYARD_URL/flags/?v=2" -H 'Content-Type: application/json' \\
      -d "{\\"token\\": \\"$HALYARD_PROJECT_TOKEN\\", \\"distinct_id\\": \\"user-1\\"}"

  Documentation        ${address}/docs/
  API reference        ${address}/api/docs/
  Data                 ${dataPlace(databaseUrl)}
  Stop                 Ctrl-C

  The password and the key are shown at every start until you sign in or use the key.
`
}

function dataPlace(databaseUrl: string): string {
  if (!databaseUrl.startsWith('sqlite:')) return shownDatabase(databaseUrl)
  const path = resolve(databaseUrl.slice('sqlite:'.length))
  return `${path}, with its encryption key ${join(dirname(path), 'halyard.key')}: back up both`
}
