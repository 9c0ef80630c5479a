import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Client, type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import {
  addProvider,
  addVerifiedDomain,
  signInWith,
  verifyAddress,
} from '../../packages/server/src/testing/single-sign-on.ts'
import { startTokenIssuer, type TokenIssuer } from '../../packages/server/src/testing/token-issuer.ts'

type Person = Awaited<ReturnType<Scenario['join']>>

onEachDatabase('approval by another person', dialect => {
  let issuer: TokenIssuer
  let s: Scenario
  let flags: string
  let requests: string
  let policies: string
  let count = 0
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    const environment = { HALYARD_FOUR_EYES_DAYS: '30', HALYARD_TRUSTED_ORIGINS: issuer.url }
    s = await startScenario(dialect, { environment })
    flags = `${s.project}/feature_flags/`
    requests = `${s.project}/change_requests/`
    policies = `${s.project}/approval_policies/`
  })
  afterAll(async () => {
    await s.close()
    await issuer.close()
  })

  let policy: number
  beforeEach(async () => {
    policy = (await s.post(policies, { action_key: '*' })).body.id
    return async () => {
      await s.halyard.storage.kysely.deleteFrom('approval_policies').execute()
    }
  })

  const nextAddress = () => {
    count += 1
    return `random${count}@example.com`
  }

  /** Joined long ago, as far as the server knows. */
  const known = async (level: 1 | 8 = 8): Promise<Person> => {
    count += 1
    const person = await s.join(`known${count}`, level)
    await s.halyard.storage.kysely.deleteFrom('account_ties').where('account_id', '=', person.id).execute()
    return person
  }
  const invite = async (by: Client, level: number): Promise<Person> => {
    count += 1
    const target_email = `puppet${count}@example.com`
    const { body } = await by.post(`${s.organization}/invites/`, { target_email, level })
    const { body: joined } = await s
      .as(undefined)
      .post(`/api/signup/${body.token}/`, { first_name: 'P', password: 'correct horse battery' })
    return { ...s.as(joined.api_key), ...joined.user }
  }
  const newFlag = async (): Promise<number> => {
    count += 1
    await s.halyard.storage.kysely.updateTable('approval_policies').set({ enabled: 0 }).execute()
    const { body } = await s.post(flags, { key: `gated-${count}`, name: 'before' })
    await s.halyard.storage.kysely.updateTable('approval_policies').set({ enabled: 1 }).execute()
    return body.id
  }
  const request = async (by: Client): Promise<number> => {
    const reply = await by.patch(`${flags}${await newFlag()}/`, { name: 'after' })
    expect(reply.status, reply.text).toBe(409)
    return reply.body.change_request.id
  }
  const approve = (by: Client, id: number) => by.post(`${requests}${id}/approve/`, {})

  it('is refused to an account that the requester invited, and the request names it', async () => {
    const admin = await known()
    const id = await request(admin)
    const puppet = await invite(admin, 8)
    expect((await approve(puppet, id)).status).toBe(403)
    const { body } = await s.get(`${requests}${id}/`)
    expect(body.uncounted_approvers).toContainEqual(
      expect.objectContaining({ email: puppet.email, reason: 'invited_by_requester', is_indirect: false }),
    )
    expect((await approve(await known(), id)).body.status).toBe('applied')
  })

  it('is refused to the account that invited the requester, and the request names it', async () => {
    const admin = await known()
    const puppet = await invite(admin, 1)
    const id = await request(puppet)
    const refused = await approve(admin, id)
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      'Your approval does not count: you invited the requester lately.',
    ])
    const { body } = await admin.get(`${requests}${id}/`)
    expect(body.can_approve).toBe(false)
    expect(body.uncounted_approvers).toContainEqual(
      expect.objectContaining({ email: admin.email, reason: 'invited_requester', is_indirect: false }),
    )
    expect((await approve(await known(), id)).body.status).toBe('applied')
  })

  it('does not close the review of an emergency change of an account that the reviewer invited', async () => {
    const admin = await known()
    const puppet = await invite(admin, 8)
    const id = await request(puppet)
    await s.halyard.storage.kysely
      .updateTable('change_requests')
      .set({ emergency_reason: 'Outage' })
      .where('id', '=', id)
      .execute()
    const review = (by: Client) => by.post(`${requests}${id}/review/`, { note: 'Looks right' })
    expect((await review(admin)).status).toBe(403)
    expect((await review(await known())).status).toBe(200)
  })

  it('is refused along a chain of invitations in both directions, and counts between people of one inviter', async () => {
    const admin = await known()
    const first = await invite(admin, 8)
    const second = await invite(first, 8)
    for (const [requester, approver, reason] of [
      [admin, second, 'invited_by_requester'],
      [second, admin, 'invited_requester'],
    ] as const) {
      const id = await request(requester)
      expect((await approve(approver, id)).status).toBe(403)
      expect((await s.get(`${requests}${id}/`)).body.uncounted_approvers).toContainEqual(
        expect.objectContaining({ email: approver.email, reason, is_indirect: true }),
      )
    }
    const other = await invite(admin, 8)
    expect((await approve(other, await request(first))).body.status).toBe('applied')
  })

  it('counts again thirty days after the invitation', async () => {
    const admin = await known()
    const puppet = await invite(admin, 8)
    const at = new Date(Date.now() - 31 * 86_400_000).toISOString().replace('Z', '000Z')
    await s.halyard.storage.kysely
      .updateTable('account_ties')
      .set({ at: at as never })
      .execute()
    expect((await approve(puppet, await request(admin))).body.status).toBe('applied')
  })

  it('is refused to a member whose level the requester raised', async () => {
    const admin = await known()
    const member = await known(1)
    const id = await request(admin)
    expect((await admin.patch(`${s.organization}/members/${member.uuid}/`, { level: 8 })).status).toBe(200)
    expect((await approve(member, id)).status).toBe(403)
    expect((await s.get(`${requests}${id}/`)).body.uncounted_approvers).toContainEqual(
      expect.objectContaining({ email: member.email, reason: 'promoted_by_requester' }),
    )
    expect((await approve(admin, await request(member))).body.status).toBe('applied')
    await s.halyard.database.transaction(tx =>
      tx.accountTies.tie(member.id, admin.id, 'provisioned', '2020-01-01T00:00:00.000000Z' as never),
    )
    expect((await approve(admin, await request(member))).status).toBe(403)
  })

  it('needs a sign-in, or a personal key where the policy allows keys', async () => {
    const [requester, approver] = [await known(1), await known()]
    const id = await request(requester)
    const key = s.as((await approver.post('/api/personal_api_keys/', { label: 'ci', scopes: ['*'] })).body.value)
    expect((await approve(key, id)).status).toBe(403)
    await approver.patch(`${policies}${policy}/`, { allow_keys: true })
    expect((await approve(key, id)).body.status).toBe('applied')
  })

  it('comes neither from an exchanged key nor, for a change of one, from those who decide which tokens are exchanged', async () => {
    const [admin, editor] = [await known(), await known()]
    const relationships = `${s.organization}/trust_relationships/`
    const trust = await admin.post(relationships, {
      name: 'CI',
      issuer: issuer.url,
      audience: 'halyard',
      rules: [{ claim: 'sub', match: 'exact', value: 'job' }],
      scopes: ['feature_flag:write', 'change_request:decide'],
    })
    const exchange = async () => {
      const form = {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        audience: trust.body.id,
        subject_token: await issuer.sign({ sub: 'job', aud: 'halyard' }),
      }
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const init = { method: 'POST', headers, body: new URLSearchParams(form).toString() }
      return s.as((await s.as(undefined).send('/api/token/', init)).body.access_token)
    }
    const id = await request(await exchange())
    expect((await approve(admin, id)).status).toBe(403)
    expect((await editor.patch(`${relationships}${trust.body.id}/`, { ttl_seconds: 600 })).status).toBe(200)
    expect((await approve(editor, id)).status).toBe(403)
    await s.halyard.storage.kysely.updateTable('approval_policies').set({ allow_keys: 1 }).execute()
    expect((await approve(await exchange(), await request(admin))).status).toBe(403)
    expect((await approve(await known(), id)).body.status).toBe('applied')
  })

  it('is refused to accounts that a SCIM token of the requester provisioned or gave another address', async () => {
    const users = `/scim/v2/${s.organization.split('/').at(-1)}/Users`
    const { value } = (await s.post(`${s.organization}/scim_tokens/`, { label: 'Provider' })).body
    const provision = (userName: string) =>
      s.as(value).post(users, {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName,
        roles: [{ value: 'admin' }],
      })
    const member = await known()
    const { kysely } = s.halyard.storage
    const { password_hash } = await kysely
      .selectFrom('users')
      .select('password_hash')
      .where('id', '=', member.id)
      .executeTakeFirstOrThrow()
    const email = nextAddress()
    const { body: puppet } = await provision(email)
    await kysely.updateTable('users').set({ password_hash }).where('uuid', '=', puppet.id).execute()
    const signIn = async (address: string) =>
      s.as(
        (await s.as(undefined).post('/api/login/', { email: address, password: 'correct horse battery' })).body.api_key,
      )
    const session = await signIn(email)
    expect((await approve(session, await request(s))).status).toBe(403)
    const byPuppet = await request(session)
    expect((await approve(s, byPuppet)).status).toBe(403)
    expect((await s.get(`${requests}${byPuppet}/`)).body.uncounted_approvers).toContainEqual(
      expect.objectContaining({ reason: 'provisioned_requester', is_indirect: false }),
    )
    expect((await approve(session, await request(await known()))).body.status).toBe('applied')

    expect((await provision(member.email)).body.id).toBe(member.uuid)
    expect((await approve(member, await request(s))).body.status).toBe('applied')
    const patch = { op: 'replace', path: 'emails', value: [{ value: nextAddress() }] }
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp']
    const moved = await s.as(value).patch(`${users}/${member.uuid}`, { schemas, Operations: [patch] })
    expect(moved.status, moved.text).toBe(200)
    expect((await approve(await signIn(patch.value[0]!.value), await request(s))).status).toBe(403)
  })

  it('comes neither from a service key nor, for a change of a service key, from its creator', async () => {
    const admin = await known()
    const made = await admin.post(`${s.organization}/service_keys/`, { label: 'CI', scopes: ['*'], level: 8 })
    const service = s.as(made.body.value)
    await s.halyard.storage.kysely.updateTable('approval_policies').set({ allow_keys: 1 }).execute()
    expect((await approve(service, await request(admin))).status).toBe(403)
    const id = await request(service)
    expect((await approve(admin, id)).status).toBe(403)
    expect((await s.get(`${requests}${id}/`)).body.uncounted_approvers).toContainEqual(
      expect.objectContaining({ email: admin.email, reason: 'created_requester' }),
    )
    expect((await approve(await known(), id)).body.status).toBe('applied')
  })

  it('comes, for a change of a key that a key created, from none of those who created one of them', async () => {
    const [admin, colleague] = [await known(), await known()]
    const robot = async (by: Client) =>
      s.as((await by.post(`${s.organization}/service_keys/`, { label: 'CI', scopes: ['*'], level: 8 })).body.value)
    const id = await request(await robot(await robot(await robot(admin))))
    expect((await approve(admin, id)).status).toBe(403)
    expect((await approve(colleague, id)).body.status).toBe('applied')
  })

  it('is refused to a member who signs in with an identity provider that the requester chose lately', async () => {
    const colleague = await known()
    await verifyAddress(s, colleague)
    await addVerifiedDomain(s, 'example.com')
    const provider = await addProvider(s, issuer.url)
    const { email } = colleague
    const signIn = async () => {
      const reply = await signInWith(s, issuer, provider, { sub: email, email, email_verified: true })
      expect(reply.status, reply.text).toBe(200)
      return s.as(reply.body.api_key)
    }
    const id = await request(s)
    expect((await approve(await signIn(), id)).status).toBe(403)
    const { kysely } = s.halyard.storage
    await kysely.deleteFrom('account_ties').execute()
    await kysely.deleteFrom('identity_links').execute()
    const long = new Date(Date.now() - 31 * 86_400_000).toISOString().replace('Z', '000Z')
    await kysely
      .updateTable('identity_providers')
      .set({ updated_at: long as never })
      .execute()
    expect((await approve(await signIn(), id)).body.status).toBe('applied')
  })

  it('never comes from an account above or below that of the requester, with any dozen calls', async () => {
    const moves = ['invite', 'raise', 'request', 'approve', 'approve', 'claim', 'apply', 'service'] as const
    const call = fc.record({
      move: fc.constantFrom(...moves),
      by: fc.nat(20),
      on: fc.nat(20),
      level: fc.constantFrom(1, 8),
    })
    interface Account {
      readonly client: Client
      readonly uuid?: string
      /** Those who invited or created it. */
      readonly above: readonly Account[]
    }
    const run = async (calls: readonly { move: string; by: number; on: number; level: number }[]) => {
      const admin = await known()
      const root: Account = { client: admin, uuid: admin.uuid, above: [] }
      const accounts: Account[] = [root]
      const opened = [{ id: await request(admin), requester: root, isApproved: false }]
      const flag = await newFlag()
      for (const { move, by, on, level } of calls) {
        const account = accounts[by % accounts.length]!
        const { client } = account
        const above = [account, ...account.above]
        const one = opened[on % opened.length]!
        if (move === 'invite') {
          const { body } = await client.post(`${s.organization}/invites/`, { target_email: nextAddress(), level })
          if (!body.token) continue
          const signup = { first_name: 'P', password: 'correct horse battery' }
          const joined = (await s.as(undefined).post(`/api/signup/${body.token}/`, signup)).body
          accounts.push({ client: s.as(joined.api_key), uuid: joined.user.uuid, above })
        } else if (move === 'raise') {
          const { uuid } = accounts[on % accounts.length]!
          if (uuid) await client.patch(`${s.organization}/members/${uuid}/`, { level })
        } else if (move === 'request') {
          const reply = await client.patch(`${flags}${flag}/`, { name: nextAddress() })
          const id = reply.body.change_request?.id
          if (id) opened.push({ id, requester: account, isApproved: false })
        } else if (move === 'approve') {
          const { status } = await approve(client, one.id)
          const isRelated = above.includes(one.requester) || one.requester.above.includes(account)
          if (isRelated) expect([403, 409]).toContain(status)
          if (status === 200) one.isApproved = true
        } else if (move === 'service') {
          const made = await client.post(`${s.organization}/service_keys/`, { label: 'CI', scopes: ['*'], level })
          if (made.status === 201) accounts.push({ client: s.as(made.body.value), above })
        } else await client.post(`${requests}${one.id}/${move}/`, {})
      }
      for (const { id, isApproved } of opened) {
        const { state } = (await s.get(`${requests}${id}/`)).body
        if (!isApproved) expect(['approved', 'applied']).not.toContain(state)
        await s.post(`${requests}${id}/cancel/`, {})
      }
    }
    await fc.assert(fc.asyncProperty(fc.array(call, { minLength: 6, maxLength: 12 }), run), { numRuns: 8 })
  }, 120_000)
})
