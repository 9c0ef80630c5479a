import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { InstanceStore } from '../../storage/instance-store.sql.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import { type Checkpoint, checkpointText, type Link, sha256 } from './verify-chain.ts'

/** Signs what the retention leaves behind, so that someone who can only write to the database cannot begin a log of their own. */
export interface CheckpointKey {
  /** SHA-256 of the public key, for `halyard audit verify --key`. */
  readonly fingerprint: string
  /** The checkpoint of the entry that follows `head`. */
  sign(organizationId: string, head: Link, pruned: Link): Checkpoint
}

export const checkpointKeyName = 'audit_checkpoint_key'
const purpose = 'audit checkpoint key'

/** The key of the installation; undefined when there is none yet, or it was sealed with another secret key. */
export async function findCheckpointKey(instance: InstanceStore, box: SecretBox): Promise<CheckpointKey | undefined> {
  const stored = await instance.find(checkpointKeyName)
  const opened = stored === undefined ? undefined : openKey(box, stored)
  return opened && checkpointKey(opened)
}

/** Makes a key when there is none, also after the secret key was replaced: that shows in the fingerprint. */
export async function getCheckpointKey(instance: InstanceStore, box: SecretBox): Promise<CheckpointKey> {
  const existing = await findCheckpointKey(instance, box)
  if (existing) return existing
  await instance.remove(checkpointKeyName)
  const { privateKey } = generateKeyPairSync('ed25519')
  const text = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const stored = await instance.findOrCreate(checkpointKeyName, box.seal(text, purpose))
  return checkpointKey(openKey(box, stored) ?? privateKey)
}

function openKey(box: SecretBox, sealed: string): KeyObject | undefined {
  try {
    const key = Buffer.from(box.open(sealed, purpose), 'base64')
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  } catch {
    return undefined
  }
}

function checkpointKey(privateKey: KeyObject): CheckpointKey {
  const key = privateKey.export({ format: 'jwk' }).x!
  return {
    fingerprint: sha256(key),
    sign(organization, head, { sequence, hash }) {
      const entry = { organization, previous_hash: head.hash, sequence: head.sequence + 1 }
      const text = checkpointText(entry, { sequence, hash })
      return { sequence, hash, key, signature: sign(null, Buffer.from(text), privateKey).toString('base64url') }
    },
  }
}
