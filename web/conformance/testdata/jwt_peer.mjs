// Verifies the tokens of standard input and signs one for each key. A token is {alg, token, public, private}, keys in PEM, a secret of
// HS in base64; the answer is {alg, token}.
import { readFileSync } from "node:fs";
const { SignJWT, importPKCS8, importSPKI, jwtVerify } = await import(`${process.env.NODE_PATH}/jose/dist/webapi/index.js`);
const out = [];
for (const t of JSON.parse(readFileSync(0, "utf8"))) {
  const secret = t.alg.startsWith("HS") && Buffer.from(t.public, "base64");
  const { payload } = await jwtVerify(t.token, secret || (await importSPKI(t.public, t.alg)), {
    algorithms: [t.alg],
    issuer: "quire",
    audience: "peers",
    requiredClaims: ["exp", "iat", "sub"],
  });
  if (payload.sub !== "ada" || payload.roles?.[0] !== "till") throw new Error(JSON.stringify(payload));
  const token = await new SignJWT({ roles: ["desk"] })
    .setProtectedHeader({ alg: t.alg })
    .setSubject("grace")
    .setIssuer("peer")
    .setAudience("quire")
    .setIssuedAt()
    .setExpirationTime("10m")
    .sign(secret || (await importPKCS8(t.private, t.alg)));
  out.push({ alg: t.alg, token });
}
console.log(JSON.stringify(out));
