import { describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { announceIdentity } from './announce-identity.ts'

onEachDatabase('identity', dialect => {
  const s = suiteScenario(dialect)

  describe('a personal API key in the header', () => {
    it.each([
      ['bearer', 200],
      ['BEARER  ', 200],
      ['Basic', 401],
      ['', 401],
    ])('%s → %i', async (word, status) => {
      const reply = await s.send('/api/projects/', { headers: { authorization: `${word} ${s.key}` } })
      expect(reply.status).toBe(status)
    })

    it('is required; a missing or wrong one returns 401 with WWW-Authenticate', async () => {
      const without = await s.as(undefined).get('/api/projects/')
      expect([without.status, without.body.code]).toEqual([401, 'not_authenticated'])
      expect(without.headers.get('www-authenticate')).toBe('Bearer')
      const wrong = await s.as('phx_wrong').get('/api/projects/')
      expect([wrong.status, wrong.body.code, wrong.body.type]).toEqual([
        401,
        'authentication_failed',
        'authentication_error',
      ])
      const inQuery = await s.as(undefined).get(`/api/projects/?personal_api_key=${s.key}`)
      expect(inQuery.status).toBe(401)
      expect((await s.as(s.projectToken).get('/api/projects/')).status).toBe(401)
    })

    it('is checked before anything else', async () => {
      const anonymous = s.as(undefined)
      expect((await anonymous.get('/api/projects/999999/feature_flags/')).status).toBe(401)
      expect((await anonymous.delete(`${s.project}/feature_flags/1/`)).status).toBe(401)
      expect((await anonymous.send(`${s.project}/feature_flags/`, { method: 'PUT' })).status).toBe(401)
      expect(
        (await anonymous.send(`${s.project}/feature_flags/`, { method: 'POST', body: 'x'.repeat(100) })).status,
      ).toBe(401)
    })
  })

  describe('personal API keys', () => {
    it('are shown once, listed without value, used, changed and revoked', async () => {
      const made = await s.post('/api/personal_api_keys/', { label: 'ci', scopes: ['feature_flag:read'] })
      expect(made.status).toBe(201)
      expect(made.body.value).toMatch(/^phx_[0-9A-Za-z]{43}$/)
      expect(made.body.mask_value).toBe(`phx_...${made.body.value.slice(-4)}`)
      const listed = (await s.get('/api/personal_api_keys/')).body.find(
        (key: { id: string }) => key.id === made.body.id,
      )
      expect(listed).toMatchObject({ label: 'ci', last_used_at: null })
      expect(listed).not.toHaveProperty('value')

      const ci = s.as(made.body.value)
      expect((await ci.get(`${s.project}/feature_flags/`)).status).toBe(200)
      const refused = await ci.post(`${s.project}/feature_flags/`, { key: 'x' })
      expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied'])
      expect(refused.body.detail).toContain('feature_flag:write')
      expect((await s.get(`/api/personal_api_keys/${made.body.id}/`)).body.last_used_at).not.toBeNull()

      await s.patch(`/api/personal_api_keys/${made.body.id}/`, { scopes: ['feature_flag:write'], label: 'cd' })
      expect((await ci.post(`${s.project}/feature_flags/`, { key: 'by-ci' })).status).toBe(201)
      expect((await s.delete(`/api/personal_api_keys/${made.body.id}/`)).status).toBe(204)
      expect((await ci.get(`${s.project}/feature_flags/`)).status).toBe(401)
      expect((await s.get(`/api/personal_api_keys/${made.body.id}/`)).status).toBe(404)
    })

    it('are refused after they expire', async () => {
      const made = await s.post('/api/personal_api_keys/', { label: 'short', expires_at: '2999-01-01T00:00:00Z' })
      expect((await s.as(made.body.value).get('/api/users/@me/')).status).toBe(200)
      const past = await s.post('/api/personal_api_keys/', { label: 'past', expires_at: '2001-01-01T00:00:00Z' })
      expect([past.status, past.body.attr]).toEqual([400, 'expires_at'])
      await s.halyard.database.transaction(async tx => {
        const key = await tx.identity.findKey(1, made.body.id)
        if (key) await tx.identity.updateKey(key.id, { expiresAt: '2001-01-01T00:00:00.000000Z' })
        await announceIdentity(tx, 1, '2026-01-01T00:00:00.000000Z')
      })
      const expired = await s.as(made.body.value).get('/api/users/@me/')
      expect(expired.status).toBe(401)
      expect(expired.body.detail).toContain('expired')
    })

    it('can be restricted to projects and organizations', async () => {
      const other = (await s.post('/api/projects/', { name: 'Other' })).body
      const forOne = await s.post('/api/personal_api_keys/', { label: 'one', scopes: ['*'], scoped_teams: [other.id] })
      const one = s.as(forOne.body.value)
      expect((await one.get(`/api/projects/${other.id}/feature_flags/`)).status).toBe(200)
      expect((await one.get(`${s.project}/feature_flags/`)).status).toBe(404)
      expect((await one.get(`${s.organization}/roles/`)).status).toBe(404)
      expect((await one.get('/api/projects/@current/')).body.id).toBe(other.id)
      expect((await one.get('/api/projects/')).body.results.map((p: { id: number }) => p.id)).toEqual([other.id])
      const wider = await one.post('/api/personal_api_keys/', { label: 'wider', scoped_teams: [] })
      expect([wider.status, wider.body.attr]).toEqual([400, 'scoped_teams'])
      const organizationId = s.organization.split('/').at(-1)
      const forAll = await s.post('/api/personal_api_keys/', { label: 'org', scoped_organizations: [organizationId] })
      const all = s.as(forAll.body.value)
      expect((await all.get(`${s.project}/feature_flags/`)).status).toBe(200)
      expect((await all.get(`${s.organization}/roles/`)).status).toBe(200)
    })

    it('never have more scopes than the key that creates them', async () => {
      const made = await s.post('/api/personal_api_keys/', { label: 'user', scopes: ['user:write'] })
      const limited = s.as(made.body.value)
      const wider = await limited.post('/api/personal_api_keys/', { label: 'all', scopes: ['*'] })
      expect([wider.status, wider.body.attr]).toEqual([400, 'scopes'])
      expect((await limited.post('/api/personal_api_keys/', { label: 'same' })).body.scopes).toEqual(['user:write'])
    })

    it.each([
      [{}, 'label', 'required'],
      [{ label: ' ' }, 'label', 'blank'],
      [{ label: 'x'.repeat(41) }, 'label', 'max_length'],
      [{ label: 'a', scopes: 'x' }, 'scopes', 'not_a_list'],
      [{ label: 'a', scopes: ['x:read'] }, 'scopes', 'invalid_input'],
      [{ label: 'a', scoped_teams: ['1'] }, 'scoped_teams', 'incorrect_type'],
      [{ label: 'a', scoped_teams: [99999] }, 'scoped_teams', 'does_not_exist'],
      [{ label: 'a', expires_at: 'soon' }, 'expires_at', 'invalid_input'],
    ])('%j is refused', async (body, attr, code) => {
      const reply = await s.post('/api/personal_api_keys/', body)
      expect([reply.status, reply.body.attr, reply.body.code]).toEqual([400, attr, code])
    })
  })

  describe('users', () => {
    it('are invited, sign up, sign in, change their password and sign out', async () => {
      const invite = await s.post(`${s.organization}/invites/`, { target_email: 'Ada@Example.com', first_name: 'Ada' })
      expect(invite.status).toBe(201)
      expect(invite.body.signup_path).toBe(`/signup/${invite.body.token}`)
      const anonymous = s.as(undefined)
      expect((await anonymous.get(`/api/signup/${invite.body.token}/`)).body.target_email).toBe('ada@example.com')
      const weak = await anonymous.post(`/api/signup/${invite.body.token}/`, { first_name: 'Ada', password: 'short' })
      expect([weak.status, weak.body.attr, weak.body.code]).toEqual([400, 'password', 'min_length'])
      const signedUp = await anonymous.post(`/api/signup/${invite.body.token}/`, {
        first_name: 'Ada',
        password: 'first password',
      })
      expect(signedUp.status).toBe(201)
      expect(
        (await anonymous.post(`/api/signup/${invite.body.token}/`, { first_name: 'A', password: 'second password' }))
          .status,
      ).toBe(404)

      const wrong = await anonymous.post('/api/login/', { email: 'ada@example.com', password: 'nope' })
      expect([wrong.status, wrong.body.detail]).toEqual([401, 'The email address or password is wrong.'])
      const session = await anonymous.post('/api/login/', { email: 'ADA@example.com', password: 'first password' })
      expect(session.status).toBe(200)
      const ada = s.as(session.body.api_key)
      const me = await ada.get('/api/users/@me/')
      expect(me.body).toMatchObject({
        email: 'ada@example.com',
        has_password: true,
        organizations: [{ membership_level: 1 }],
      })
      expect((await ada.get('/api/personal_api_keys/')).body).toEqual([])

      expect((await ada.patch('/api/users/@me/', { password: 'other password' })).body.attr).toBe('current_password')
      const changed = await ada.patch('/api/users/@me/', {
        password: 'other password',
        current_password: 'first password',
      })
      expect(changed.status).toBe(200)
      expect((await ada.get('/api/users/@me/')).status).toBe(401)
      const again = await anonymous.post('/api/login/', { email: 'ada@example.com', password: 'other password' })
      const back = s.as(again.body.api_key)
      expect((await back.post('/api/logout/')).status).toBe(204)
      expect((await back.get('/api/users/@me/')).status).toBe(401)
    })

    it('with an account accept an invitation with it', async () => {
      const eve = await s.stranger('eve')
      const invite = await s.post(`${s.organization}/invites/`, { target_email: 'eve@elsewhere.example' })
      expect((await eve.get(`${s.project}/feature_flags/`)).status).toBe(404)
      expect((await eve.post(`/api/signup/${invite.body.token}/join/`)).status).toBe(204)
      expect((await eve.get(`${s.project}/feature_flags/`)).status).toBe(200)
    })

    it('are throttled after wrong passwords', async () => {
      const anonymous = s.as(undefined)
      const statuses: number[] = []
      for (let n = 0; n < 6; n++) {
        statuses.push((await anonymous.post('/api/login/', { email: 'guess@example.com', password: `p${n}` })).status)
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
      const waiting = await anonymous.post('/api/login/', { email: 'guess@example.com', password: 'x' })
      expect(Number(waiting.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(waiting.body.type).toBe('throttled_error')
    })

    it('are throttled after as many wrong passwords in parallel', async () => {
      const login = (password: string) =>
        s.as(undefined).post('/api/login/', { email: 'at-once@example.com', password })
      const statuses = (await Promise.all(Array.from({ length: 12 }, (_, n) => login(`p${n}`)))).map(r => r.status)
      expect(statuses.sort()).toEqual([...Array(5).fill(401), ...Array(7).fill(429)])
    })

    it('choose their current project, and @current follows', async () => {
      const project = (await s.post('/api/projects/', { name: 'Elsewhere' })).body
      const me = await s.patch('/api/users/@me/', { set_current_team: project.id })
      expect(me.body.team.id).toBe(project.id)
      expect((await s.get('/api/projects/@current/')).body.id).toBe(project.id)
      await s.patch('/api/users/@me/', { set_current_team: s.projectId })
      const foreign = await s.patch('/api/users/@me/', { set_current_team: 999_999 })
      expect([foreign.status, foreign.body.attr, foreign.body.code]).toEqual([
        400,
        'set_current_team',
        'does_not_exist',
      ])
    })
  })
})
