import type { ApiKey as ApiKeyWire } from '@halyard/contract'
import type { ApiKey } from './api-key.ts'
import type { Session } from './sign-in/open-session.ts'
import { userToWire } from './user-resource.ts'

export const keyToWire = (key: ApiKey, value?: string): ApiKeyWire => ({
  id: key.id,
  label: key.label,
  mask_value: key.mask,
  scopes: [...key.scopes],
  scoped_teams: [...key.projectIds],
  scoped_organizations: [...key.organizationIds],
  created_at: key.createdAt,
  last_used_at: key.lastUsedAt,
  expires_at: key.expiresAt,
  user_id: key.userId,
  ...(value !== undefined && { value }),
})

export const sessionToWire = (session: Session) => ({
  user: userToWire(session.user),
  api_key: session.key,
  expires_at: session.expiresAt,
})
