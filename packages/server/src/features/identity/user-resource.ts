import type { UserBasic } from '@halyard/contract'
import type { User } from '../../tenancy.ts'

export const userToWire = (user: User): UserBasic => ({
  id: user.id,
  uuid: user.uuid,
  distinct_id: user.distinctId,
  first_name: user.firstName,
  email: user.email,
  is_email_verified: user.isEmailVerified,
})
