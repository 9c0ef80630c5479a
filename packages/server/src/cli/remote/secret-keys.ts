import type { ProjectSecretKey } from '@halyard/contract'
import { printJson, printRows } from '../output.ts'
import { type ProjectOptions, projectPath, readAll, withApi } from './api.ts'

const keysPath = (options: ProjectOptions): string => `${projectPath(options)}secret_keys/`

/** `halyard keys secret create <label>` */
export const createSecretKey = (label: string, options: ProjectOptions & { readonly quiet?: boolean }): Promise<void> =>
  withApi(options, async api => {
    const key = await api('POST', keysPath(options), { label })
    if (options.json) return printJson(key)
    console.log(options.quiet ? key.value : `Secret key ${key.id} (${label}), shown once:\n${key.value}`)
  })

/** `halyard keys secret list` */
export const listSecretKeys = (options: ProjectOptions): Promise<void> =>
  withApi(options, async api => {
    const keys = await readAll<ProjectSecretKey>(api, `${keysPath(options)}?`)
    printRows(keys, ['id', 'label', 'mask_value', 'created_at'], options)
  })

/** `halyard keys secret revoke <id>` */
export const revokeSecretKey = (id: string, options: ProjectOptions): Promise<void> =>
  withApi(options, async api => {
    await api('DELETE', `${keysPath(options)}${encodeURIComponent(id)}/`)
    console.log(`Revoked ${id}.`)
  })
