import { existsSync, statSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { type CheckpointKey, checkpointKeyName, findCheckpointKey } from '../../features/audit/checkpoint-key.ts'
import { readSecretKey, secretKeyFile } from '../../features/plugins/secrets/secret-key.ts'
import { type Instant, instantOf } from '../../instant.ts'
import { secretKeyName, sqlInstanceStore } from '../../storage/instance-store.sql.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { createSecretBox } from '../../storage/secret-box.ts'
import { daysSince } from './days-since.ts'
import { noUse, type StoredSecret } from './secrets.sql.ts'
import type { Finding } from './security-findings.ts'

interface StoredCheckpointKey {
  /** Null for a key of an earlier version, which did not note it. */
  readonly createdAt: Instant | null
  /** Undefined when it was sealed with another secret key. */
  readonly key: CheckpointKey | undefined
}

/** Undefined when there is none yet. */
async function readCheckpointKey(
  config: Pick<Config, 'secretKey'>,
  { kysely, sqlite }: Pick<Storage, 'kysely' | 'sqlite'>,
): Promise<StoredCheckpointKey | undefined> {
  const instance = sqlInstanceStore(kysely)
  if ((await instance.find(checkpointKeyName)) === undefined) return undefined
  const secretKey = await readSecretKey(config.secretKey, sqlite?.path, instance)
  const key = secretKey === undefined ? undefined : await findCheckpointKey(instance, createSecretBox(secretKey))
  return { createdAt: await instance.findCreatedAt(checkpointKeyName), key }
}

/** The key that vouches for what the retention of the audit log leaves behind. */
export async function checkpointKeyFindings(config: Config, storage: Storage): Promise<readonly Finding[]> {
  const stored = await readCheckpointKey(config, storage)
  if (!stored) return [{ isGood: true, text: 'No key signs checkpoints of the audit log yet.' }]
  const { createdAt, key } = stored
  const age = createdAt === null ? 'age unknown' : `${daysSince(createdAt)} days old`
  if (key)
    return [{ isGood: true, text: `Checkpoints of the audit log are signed with the key ${key.fingerprint} (${age}).` }]
  return [
    {
      isGood: false,
      text: `The key that signs checkpoints of the audit log (${age}) cannot be opened: it was sealed with another secret key. Bring back halyard.key or HALYARD_SECRET_KEY, or note the fingerprint of the next one: halyard audit head.`,
    },
  ]
}

/** The keys of the installation as a whole. A configured secret key is not stored, and so has no age. */
export async function installationSecrets(config: Config, storage: Storage): Promise<readonly StoredSecret[]> {
  const of = 'this installation'
  const checkpoint = await readCheckpointKey(config, storage)
  const secretKeyAt = config.secretKey === undefined ? await secretKeyCreatedAt(storage) : undefined
  const label = storage.sqlite ? 'halyard.key' : 'in the database'
  return [
    ...(secretKeyAt === undefined
      ? []
      : [{ kind: 'secret key' as const, label, of, mask: '', created_at: secretKeyAt, ...noUse }]),
    ...(checkpoint
      ? [
          {
            kind: 'checkpoint key' as const,
            label: 'Ed25519, signs the audit log',
            of,
            mask: checkpoint.key?.fingerprint ?? '',
            created_at: checkpoint.createdAt,
            ...noUse,
          },
        ]
      : []),
  ]
}

/** Undefined when there is none. */
async function secretKeyCreatedAt({
  kysely,
  sqlite,
}: Pick<Storage, 'kysely' | 'sqlite'>): Promise<Instant | null | undefined> {
  if (sqlite) {
    const file = secretKeyFile(sqlite.path)
    return existsSync(file) ? instantOf(statSync(file).mtime) : undefined
  }
  const instance = sqlInstanceStore(kysely)
  return (await instance.find(secretKeyName)) === undefined ? undefined : instance.findCreatedAt(secretKeyName)
}
