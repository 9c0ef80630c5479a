import { createFirstCredentials } from '../../features/identity/first-start/first-credentials.ts'
import { createPasswords } from '../../features/identity/sign-in/password.ts'
import { findSecretKey } from '../../features/plugins/secrets/secret-key.ts'
import { sqlInstanceStore } from '../../storage/instance-store.sql.ts'
import { createSecretBox } from '../../storage/secret-box.ts'
import { printJson } from '../output.ts'
import { serverUrl } from '../remote/api.ts'
import { CommandError } from '../usage.ts'
import { setupLink, welcome } from '../welcome.ts'
import { withDatabase } from '../with-database.ts'

/** `halyard credentials`: what the first start generated, until it has been used. */
export async function credentials(options: { readonly json?: boolean }): Promise<void> {
  await withDatabase(async (database, storage, config) => {
    const secretKey = await findSecretKey(config.secretKey, storage.sqlite?.path, sqlInstanceStore(storage.kysely))
    const pending = await createFirstCredentials(
      database,
      createPasswords(config.passwordCost),
      createSecretBox(secretKey),
    ).find()
    if (!pending)
      throw new CommandError(
        'The first credentials have been used. Use "halyard users reset-password" or "halyard keys create" instead.',
      )
    const address = config.publicUrl ?? serverUrl({})
    const { setupToken, projectId, projectToken, ...rest } = pending
    if (!options.json) return console.log(welcome(address, pending, config.databaseUrl))
    printJson({
      url: address,
      ...rest,
      setup_url: setupToken === null ? null : setupLink(address, setupToken),
      project_id: projectId,
      project_token: projectToken,
    })
  })
}
