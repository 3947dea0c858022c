//! Parameters that actix-web's handlers take, and tools do not.
use actix_mcp_router::tool;
use actix_web::{HttpRequest, web};

#[derive(Clone)]
struct User;

#[tool(crate = "actix_mcp_router")]
async fn of_middleware(user: web::ReqData<User>) {
    let _ = user;
}

#[tool(crate = "actix_mcp_router")]
async fn of_request(request: HttpRequest) {
    let _ = request;
}

fn main() {}
